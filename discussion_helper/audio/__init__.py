"""The audio core: frames, devices, files, resampling and the echo canceller."""

__all__: list[str] = []
