// The stream of a reply's events. Some proxies keep events back until a buffer is full; the server greets at once, so
// silence means such a proxy, and the stream is opened again with padding that fills the buffer after each event.
const GREETING = 2000;
const PADDING = 8192;
const REMEMBERED = "padded-events";

function isPadded() {
  try {
    return Boolean(sessionStorage.getItem(REMEMBERED));
  } catch {
    return false; // No storage: then it is found out each time.
  }
}

function remember() {
  try {
    sessionStorage.setItem(REMEMBERED, "yes");
  } catch {
    // See above.
  }
}

export class ReplyEvents {
  // `handlers` maps names of events to functions of their data; `opened` and `lost` are told of the connection.
  constructor(address, { handlers, opened, lost }) {
    Object.assign(this, { address, handlers, opened, lost });
    this.open(isPadded());
  }

  open(padded) {
    this.source = new EventSource(padded ? `${this.address}?padding=${PADDING}` : this.address);
    this.source.addEventListener("hello", () => clearTimeout(this.greeting));
    for (const [name, act] of Object.entries(this.handlers)) {
      this.source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    }
    this.source.onopen = this.opened;
    this.source.onerror = () => {
      clearTimeout(this.greeting); // A broken connection is no silent one.
      this.lost();
    };
    if (!padded) this.greeting = setTimeout(() => this.openPadded(), GREETING);
  }

  // Nothing has come yet, so nothing comes twice.
  openPadded() {
    if (this.source.readyState === EventSource.CLOSED) return;
    this.source.close();
    remember();
    this.open(true);
  }

  get isGivenUp() {
    return this.source.readyState === EventSource.CLOSED;
  }

  close() {
    clearTimeout(this.greeting);
    this.source.close();
  }
}
