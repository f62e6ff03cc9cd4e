// Clicks and answers in any order, against the page's own modules: what is wrong in the end, one line for each.

async (seeds) => {
  const HEARD = ["connecting", "live", "lost"];
  const { world } = window;
  const found = [];
  for (const seed of seeds) found.push(...(await play(seed)));
  return { found, sent: world.sent ?? 0, recorded: world.recorded ?? 0 };

  function generator(seed) {
    let state = seed * 2_654_435_761;
    return (most) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
    };
  }

  async function play(seed) {
    const pick = generator(seed);
    world.clear();
    const following = await world.begin();
    const any = (list) => list[pick(list.length)];
    const socket = () => any(world.here());
    const device = () => any(["", "left", "right"]);
    const session = () => any(["session-a", "session-b"]);
    const unplugged = new Set(); // whose device was, at some time
    let expected = null; // is about to be followed
    const join = (more) => following.id && following.join({ device: device(), record: true, ...more });
    const steps = {
      join: () => join({}),
      take: () => join({ take: true }),
      joinOpen: () => following.id && join({ stream: world.stream("given") }),
      expect: () => {
        expected = session();
        following.expect(expected, { device: "", record: true, stream: world.stream("given") }, () => {});
      },
      follow: () => {
        expected = null;
        following.follow(session());
      },
      leave: () => {
        expected = null;
        following.leave();
      },
      mute: () => following.audio?.mute(!following.audio.muted),
      muteTwice: () => [1, 2].map(() => following.audio?.mute(!following.audio.muted)),
      use: () => following.audio?.use(device()),
      over: () => following.audio?.close(),
      unplug: () => {
        if (!following.audio?.open) return;
        unplugged.add(following.audio);
        world.unplug();
      },
      answer: () => world.asked.splice(pick(world.asked.length || 1), 1)[0]?.answer(),
      refuse: () => world.asked.splice(pick(world.asked.length || 1), 1)[0]?.refuse(),
      load: () => world.loading.splice(0).forEach((one) => one.answer()),
      failToLoad: () => world.loading.splice(0).forEach((one) => one.refuse(new Error("no network"))),
      opens: () => socket()?.opens(),
      welcome: () => socket()?.welcome(),
      owned: () => socket()?.owned(),
      taken: () => socket()?.taken(),
      drops: () => socket()?.drops(),
      held: () => socket()?.holds(pick(2) === 1),
      sound: () => world.sound(),
    };
    const likely = ["join", "mute", "answer", "answer", "load", "load", "opens", "opens", "welcome", "welcome", "held", "sound", "sound"];
    const names = [...Object.keys(steps), ...likely];
    const done = [];
    if (pick(2)) {
      steps.join();
      await world.answerAll();
    }
    for (let count = 10 + pick(30); count > 0; count -= 1) {
      const name = any(names);
      done.push(name);
      const [given] = [steps[name]()].flat();
      given?.catch?.((error) => world.leaks.push(`${name} raised ${error}`));
      if (pick(2)) await world.settle();
      else if (pick(2)) await null;
    }
    if (expected && following.id !== expected) following.follow(expected);
    await world.answerAll();
    const { sent = 0 } = world;
    world.sound();
    await world.settle();
    const heard = following.audio?.live && following.audio.open ? 1 : 0;
    if ((world.sent ?? 0) - sent !== heard) world.leaks.push(`${heard} blocks were to be sent`);
    const wrong = [...wrongIn(following, unplugged.has(following.audio)), ...world.leaks];
    following.leave();
    await world.answerAll();
    if (world.live().length) wrong.push(`${world.live()} is open behind the end`);
    if (world.contexts.some((context) => context.state !== "closed")) wrong.push("a context is open behind the end");
    return wrong.map((what) => `seed ${seed}: ${what} after ${done.join(" ")}`);
  }

  function wrongIn(following, unplugged) {
    const { audio } = following;
    const wrong = [];
    const state = audio?.state ?? "none";
    const shown = `${state}${audio?.muted ? " muted" : ""}${audio?.open ? " open" : ""}`;
    const listens = audio !== null && !audio.muted && HEARD.includes(state);
    const live = world.live();
    if (live.length !== (audio?.open ? 1 : 0)) wrong.push(`${live.length} live (${live}), shown as ${shown}`);
    if (audio?.open && !listens) wrong.push(`open, shown as ${shown}`);
    if (audio?.opening) wrong.push(`opening for ever, shown as ${shown}`);
    const lost = unplugged || world.newest?.refused;
    if (listens && !audio.open && !lost) wrong.push(`closed, shown as ${shown}`);
    const here = world.here();
    if (here.length > (HEARD.includes(state) ? 1 : 0)) wrong.push(`${here.length} sockets, shown as ${shown}`);
    if (state === "live" && here[0]?.muted !== !audio.open) wrong.push(`the server was told ${here[0]?.muted}, shown as ${shown}`);
    return wrong;
  }
};
