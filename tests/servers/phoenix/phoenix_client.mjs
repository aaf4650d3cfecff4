// Helpers for scripts with the unmodified npm `phoenix` client. Node has a global WebSocket.
import { Presence, Socket } from "../../conformance/node_modules/phoenix/priv/static/phoenix.mjs";

export { Presence, Socket };

export function connect(url, options = {}) {
  const socket = new Socket(`${url.replace("http", "ws")}/cortex`, { reconnectAfterMs: () => 50, ...options });
  socket.connect();
  return socket;
}

// Resolve with the reply to a push, or `{refused: response}`.
export function reply(push) {
  return new Promise((resolve) =>
    push
      .receive("ok", (response) => resolve(response))
      .receive("error", (response) => resolve({ refused: response }))
      .receive("timeout", () => resolve({ refused: "timeout" })),
  );
}

// Record the events of a channel from now on; `next` resolves with the first one for which `fits` holds.
export function watch(channel) {
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

export function finish(result) {
  console.log(JSON.stringify(result));
  process.exit(0);
}
