// Joins, says so, and asks as soon as it has joined a second time, which it does by itself.
// Node's own WebSocket tells no close of an attempt that failed, so that the client would try only once; `ws` does.
import WebSocket from "../../conformance/node_modules/ws/wrapper.mjs";
import { connect, heard } from "./phoenix_client.mjs";

const socket = connect(process.argv[2], { transport: WebSocket, heartbeatIntervalMs: 200 });
const channel = socket.channel("cortex:agent-123");
channel.rejoinTimer.timerCalc = () => 50;
let joins = 0;
channel.join().receive("ok", () => {
  console.log("joined");
  joins += 1;
  if (joins === 2) channel.push("query", { q: "What do users prefer?", ref: "q1" });
});
const { status } = await heard(channel).next("result");
console.log(status);
process.exit(0);
