// A browser whose microphones, audio contexts and sockets answer when a test says so. Run in a page, before anything is joined.

(() => {
  const { port1, port2 } = new MessageChannel();
  const queued = []; // after what is under way, and sooner than a timer would be
  port1.onmessage = () => queued.shift()();
  const soon = (call) => {
    queued.push(call);
    port2.postMessage(null);
  };
  const world = { tracks: [], asked: [], loading: [], contexts: [], nodes: [], sockets: [], leaks: [], held: new Set(), following: null };
  window.world = world;

  // -- devices

  world.stream = (device = "") => {
    const track = { device, readyState: "live", onended: null, stop: () => (track.readyState = "ended") };
    world.tracks.push(track);
    return { getTracks: () => [track], getAudioTracks: () => [track] };
  };
  world.live = () => world.tracks.filter((track) => track.readyState === "live").map((track) => track.device);
  world.unplug = () => {
    const track = world.tracks.find((one) => one.readyState === "live" && one.onended);
    if (!track) return;
    track.readyState = "ended";
    track.onended?.();
  };
  const asks = ({ audio }) => new Promise((resolve, reject) => {
    const device = audio.deviceId?.exact ?? "";
    const one = { device, refused: false, answer: () => resolve(world.stream(device)) };
    one.refuse = () => {
      one.refused = true;
      reject(new DOMException("no", "NotReadableError"));
    };
    world.asked.push(one);
    world.newest = one;
  });
  const devices = { getUserMedia: asks, enumerateDevices: async () => [], addEventListener() {} };
  Object.defineProperty(navigator, "mediaDevices", { value: devices, configurable: true });

  // -- the audio context

  window.AudioContext = class {
    sampleRate = 48_000;
    baseLatency = 0;
    state = "running";
    destination = {};
    audioWorklet = { addModule: () => new Promise((answer, refuse) => world.loading.push({ answer, refuse })) };

    constructor() {
      world.contexts.push(this);
    }

    async resume() {}

    async close() {
      this.state = "closed";
    }

    createMediaStreamSource(stream) {
      if (this.state === "closed") throw new DOMException("it is closed", "InvalidStateError");
      let connected = null;
      return {
        connect: (node) => (connected = node).sources.add(stream),
        disconnect: () => connected?.sources.delete(stream),
      };
    }
  };
  window.AudioWorkletNode = class {
    sources = new Set();
    connection = 0;
    port = { postMessage: (message) => (this.connection = message.connection ?? this.connection), onmessage: null };

    constructor(_, name) {
      this.name = name;
      world.nodes.push(this);
    }

    connect() {}
  };
  /** A block of each microphone that is connected, which comes as late as messages of the audio thread do. */
  world.sound = () => {
    for (const node of world.nodes) {
      const hears = [...node.sources].some((stream) => stream.getTracks()[0].readyState === "live");
      if (node.name !== "capture" || !hears) continue;
      const data = { connection: node.connection, sample: 0, frame: 0, at: 0, samples: new Int16Array(8), dbfs: -20 };
      soon(() => node.port.onmessage?.({ data }));
    }
  };

  // -- the server

  /** Sound that goes anywhere while the microphone is shown as closed. */
  const leak = (where) => {
    const audio = world.following?.audio;
    world[where] = (world[where] ?? 0) + 1;
    if (!audio || audio.muted || !audio.open) world.leaks.push(`${where} what nobody was to hear`);
  };
  window.WebSocket = class {
    static CONNECTING = 0;
    static OPEN = 1;
    readyState = 0;
    bufferedAmount = 0;
    closed = false;
    welcomed = false;

    constructor(url) {
      this.url = url;
      this.isAudio = url.endsWith("/audio");
      if (this.isAudio) world.sockets.push(this);
    }

    send(data) {
      if (data instanceof ArrayBuffer) return leak("sent");
      const message = JSON.parse(data);
      if (message.type === "hello") this.hello = message;
      if (message.type !== "mute") return;
      this.closed = message.on;
      if (!message.on) world.held.delete(this.url);
    }

    /** For the server: here, or by somebody else. */
    get muted() {
      return this.closed || world.held.has(this.url);
    }

    /** Somebody else mutes the session, or opens its microphone again. */
    holds(on) {
      if (!this.welcomed || this.readyState !== 1 || this.closed || on === this.muted) return;
      if (on) world.held.add(this.url);
      else world.held.delete(this.url);
      this.hears({ type: "muted", on });
    }

    close() {
      this.readyState = 3;
    }

    opens() {
      if (this.readyState !== 0) return;
      this.readyState = 1;
      this.onopen?.();
    }

    hears(message) {
      if (this.readyState === 1) this.onmessage({ data: JSON.stringify(message) });
    }

    welcome() {
      if (!this.hello || this.welcomed || this.readyState !== 1) return;
      this.welcomed = true;
      this.hears({ type: "welcome", muted: world.held.has(this.url) });
    }

    ends(code, message = null) {
      if (this.readyState !== 1) return;
      if (message) this.hears(message);
      this.readyState = 3;
      this.onclose({ code });
    }

    owned() {
      if (!this.welcomed) this.ends(4409, { type: "error", code: "owned" });
    }

    taken() {
      if (this.welcomed) this.ends(4001, { type: "taken" });
    }

    drops() {
      this.ends(1006);
    }
  };
  world.here = () => world.sockets.filter((socket) => socket.readyState < 2);

  // -- time: who waits for another try does not wait, and nobody loses patience

  const timers = new Map();
  window.setTimeout = (call, ms = 0) => {
    const id = {};
    timers.set(id, call);
    if (ms < 5_000) soon(() => timers.has(id) && timers.delete(id) && call());
    return id;
  };
  window.clearTimeout = (id) => timers.delete(id);
  window.fetch = () => new Promise(() => {});
  world.settle = () => new Promise(soon);

  /** The browser does what it was asked for. */
  world.answer = async () => {
    for (const one of [...world.loading.splice(0), ...world.asked.splice(0)]) one.answer();
    await world.settle();
  };
  /** And so does the server, until nothing is left to be answered. */
  world.answerAll = async () => {
    for (let round = 0; round < 8; round += 1) {
      await world.answer();
      for (const socket of world.here()) {
        socket.opens();
        socket.welcome();
      }
    }
    await world.settle();
  };

  world.clear = () => {
    for (const name of ["tracks", "asked", "loading", "contexts", "nodes", "sockets", "leaks"]) world[name].length = 0;
    world.held.clear();
    world.newest = null;
  };

  world.begin = async (id = "session-a") => {
    const [{ Following }, { Recording }] = await Promise.all([import("/page/following.js"), import("/page/recording.js")]);
    const user = (world.user ??= Recording.prototype.user);
    Recording.prototype.user = function (...given) {
      leak("recorded");
      return user.apply(this, given);
    };
    world.following = new Following(() => {}, (error) => world.leaks.push(String(error)));
    world.following.follow(id);
    return world.following;
  };
})();
