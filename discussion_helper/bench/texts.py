"""What the agent says when it is to be talked over: five stretches of plain speech, each longer than 15 s."""

__all__ = ["TEXTS"]

TEXTS = (
    "The old lighthouse stands on a narrow strip of rock, a mile from the village. Every evening the keeper climbs the "
    "stairs and cleans the glass before the sun goes down. In winter the waves reach the lower windows, and nobody can "
    "visit him for weeks. He says that he does not mind, because the sea tells him something new every day. When the "
    "storms are over, the children row out with bread and letters.",
    "Bread needs only flour, water, salt and time. Mix them in the evening and leave the dough in a cool place until "
    "the morning. Fold it twice while you drink your coffee, then shape it and let it rest for another hour. The oven "
    "must be very hot, and a little steam makes the crust thin and crisp. Wait until the loaf is cold before you cut "
    "it, even if the smell makes that difficult.",
    "Most rivers begin as a spring that you could step across without noticing. Rain and melting snow join it on the "
    "way down, and after a few miles it turns the first mill. Further on it slows, bends through meadows and leaves "
    "behind the sand that it carried from the hills. Towns grew where it could be crossed, and harbours where it meets "
    "the tide. From the air the whole journey looks like the branches of a tree.",
    "The night train leaves the station a few minutes after ten. At first there are lights on both sides, then only a "
    "lamp here and there at a crossing. Somebody in the next cabin reads aloud to a child, and the wheels keep time "
    "with the story. Around midnight it stops between two mountains, and you can hear how quiet the valley is. In the "
    "morning there is fresh tea, and the windows are full of fields and birds.",
    "A good garden is planned in winter, when there is nothing to do but look at it. Mark where the shade falls at "
    "noon and where the ground stays wet after rain. Put the tall plants behind the low ones, and leave a path that is "
    "wide enough for two. Plant a tree even if you will not sit under it yourself, since somebody will. The rest is "
    "patience, a sharp spade, and a neighbour who waters everything while you are away.",
)
