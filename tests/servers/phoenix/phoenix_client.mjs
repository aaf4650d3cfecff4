// What every script with the unmodified npm `phoenix` client needs. Node has a WebSocket; a browser page has a location.
import { Presence, Socket } from "../../conformance/node_modules/phoenix/priv/static/phoenix.mjs";

export { Presence, Socket };

export function connect(url, options = {}) {
  const socket = new Socket(`${url.replace("http", "ws")}/cortex`, { reconnectAfterMs: () => 50, ...options });
  socket.connect();
  return socket;
}

// The answer to a push, or `{status, ...response}` of a refusal.
export function answer(push) {
  return new Promise((resolve) =>
    push
      .receive("ok", (response) => resolve(response))
      .receive("error", (response) => resolve({ refused: response }))
      .receive("timeout", () => resolve({ refused: "timeout" })),
  );
}

// The next event for which `fits` holds; events are kept from the moment this is called with a channel.
export function heard(channel) {
  const events = [];
  let wake = () => {};
  const onMessage = channel.onMessage.bind(channel);
  channel.onMessage = (event, payload, ref) => {
    if (!event.startsWith("phx_") && !event.startsWith("chan_reply_")) {
      events.push({ event, ...payload });
      wake();
    }
    return onMessage(event, payload, ref);
  };
  const next = async (event, fits = () => true) => {
    for (;;) {
      const found = events.find((one) => one.event === event && fits(one));
      if (found) return found;
      await new Promise((resolve) => (wake = resolve));
    }
  };
  return { events, next };
}

export function tell(result) {
  console.log(JSON.stringify(result));
  process.exit(0);
}
