"""The recorded clips are what their manifest says, and a wrong manifest is named."""

import hashlib
import sys
from pathlib import Path

import pytest
import soundfile

from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.errors import AudioFileError

FOLDER = Path(__file__).parents[2] / "audio"
CLIPS = load_clips(FOLDER)
NAMES = [clip.path.relative_to(FOLDER).as_posix() for clip in CLIPS]
EACH = pytest.mark.parametrize("clip", CLIPS, ids=NAMES)

HEADER = (
    "file,kind,duration_s,sample_rate,channels,language,speaker,transcript,demo,licence,licence_files,source,sha256\n"
)
ROW = "speech/a.wav,speech,1.5,16000,1,en,Ada,hello,2,MIT,A.txt;B.txt,made here,00\n"


@EACH
def test_the_bytes_are_those_of_the_manifest(clip: Clip) -> None:
    assert hashlib.sha256(clip.path.read_bytes()).hexdigest() == clip.sha256


@EACH
def test_it_decodes_to_the_stated_length_rate_and_channels(clip: Clip) -> None:
    samples, rate = soundfile.read(clip.path, dtype="float32", always_2d=True)
    assert (rate, samples.shape[1]) == (clip.rate, clip.channels)
    assert len(samples) / rate == pytest.approx(clip.duration_s, abs=0.001)
    assert samples.any()


def test_every_file_is_listed_once() -> None:
    kinds = sorted({clip.kind for clip in CLIPS})
    files = sorted(file.relative_to(FOLDER).as_posix() for kind in kinds for file in (FOLDER / kind).iterdir())
    assert sorted(NAMES) == files
    others = {path.name for path in FOLDER.iterdir()} - set(kinds)
    assert others == {"LICENCES", "README.md", "manifest.csv"}


def test_every_licence_is_there_and_every_one_there_is_needed() -> None:
    named = {file for clip in CLIPS for file in clip.licence_files}
    assert named == {path.name for path in (FOLDER / "LICENCES").iterdir()}
    assert all(clip.licence and clip.source for clip in CLIPS)


def test_the_readme_names_every_licence_file_and_every_kind() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in {file for clip in CLIPS for file in clip.licence_files} if name not in text] == []
    assert [kind for kind in {clip.kind for clip in CLIPS} if f"{kind}/" not in text] == []


def test_the_meeting_recordings_carry_no_words() -> None:
    meetings = [clip for clip in CLIPS if clip.path.name.startswith("ami_")]
    assert len(meetings) == 25
    assert {(clip.transcript, clip.speaker) for clip in meetings} == {("", "")}


def test_the_demo_is_a_few_short_turns_of_different_english_speakers() -> None:
    turns = sorted((clip for clip in CLIPS if clip.demo), key=lambda clip: clip.demo)
    assert [clip.demo for clip in turns] == list(range(1, len(turns) + 1))
    assert 4 <= len(turns) <= 6
    assert len({clip.speaker for clip in turns}) == len(turns)
    assert all(clip.language == "en" and clip.transcript and clip.duration_s <= 11 for clip in turns)


def written(folder: Path, text: str) -> Path:
    (folder / "manifest.csv").write_text(text, encoding="utf-8")
    return folder


def test_a_row_becomes_a_clip(tmp_path: Path) -> None:
    (clip,) = load_clips(written(tmp_path, HEADER + ROW))
    assert clip.path == tmp_path / "speech" / "a.wav"
    assert (clip.duration_s, clip.rate, clip.channels, clip.demo) == (1.5, 16000, 1, 2)
    assert clip.licence_files == ("A.txt", "B.txt")


def test_unknown_columns_are_left_alone(tmp_path: Path) -> None:
    header, row = HEADER.rstrip("\n") + ",notes\n", ROW.rstrip("\n") + ",loud\n"
    assert len(load_clips(written(tmp_path, header + row))) == 1


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"manifest\.csv does not exist"):
        load_clips(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(AudioFileError) as caught:
        load_clips(tmp_path / "a")
    assert str(caught.value) == f"{tmp_path / 'a'} is not a folder. Name the folder that holds the clips."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows calls a name that is too long missing")
def test_a_reason_and_a_path_come_once(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 300)
    with pytest.raises(AudioFileError) as caught:
        load_clips(folder)
    assert caught.value.what == f"{folder / 'manifest.csv'} cannot be read: File name too long."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lacks the columns file, kind"),
        (HEADER.replace("sha256", "md5") + ROW, "lacks the columns sha256"),
        (HEADER + ROW + ROW.replace("16000", "fast"), "line 3: .*'fast'"),
        (HEADER + "speech/a.wav,speech,1.5,16000\n", "line 2: "),
        (HEADER + ROW.replace("speech/a.wav", "../a.wav"), r"line 2: the file '\.\./a\.wav' is not a path inside"),
        (HEADER + ROW.replace("speech/a.wav", "/a.wav"), "line 2: the file '/a.wav' is not a path inside"),
        (HEADER + ROW.replace("Ada", '"Ada'), "cannot be read"),
    ],
    ids=["empty", "column", "number", "short row", "outside", "absolute", "quote"],
)
def test_a_wrong_manifest_says_where(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(AudioFileError, match=says) as caught:
        load_clips(written(tmp_path, text))
    assert "manifest.csv" in caught.value.what
    assert caught.value.fix


def test_a_manifest_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_bytes(HEADER.encode() + ROW.replace("Ada", "Zoë").encode("latin-1"))
    with pytest.raises(AudioFileError, match="cannot be read"):
        load_clips(tmp_path)
