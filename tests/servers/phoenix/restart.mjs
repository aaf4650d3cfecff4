// Join, and send a query after the client has rejoined by itself.
// Node's own WebSocket reports no close for a failed attempt, so that the client would try only once; `ws` does.
import WebSocket from "../../conformance/node_modules/ws/wrapper.mjs";
import { connect, watch } from "./phoenix_client.mjs";

// The closed socket shows that the server is gone. A heartbeat that a busy machine answers late would reconnect once more.
const socket = connect(process.argv[2], { transport: WebSocket, heartbeatIntervalMs: 20_000 });
const channel = socket.channel("cortex:agent-123");
channel.rejoinTimer.timerCalc = () => 50;
let joins = 0;
channel.join().receive("ok", () => {
  console.log("joined");
  joins += 1;
  if (joins === 2) channel.push("query", { q: "What do users prefer?", ref: "q1" });
});
const { status } = await watch(channel).next("result");
console.log(status);
process.exit(0);
