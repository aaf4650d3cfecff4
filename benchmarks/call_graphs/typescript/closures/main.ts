import { makeCounter, once } from './counter';

function connect(): string {
  return 'connected';
}

const connection = once(connect);
const counter = makeCounter(2);

counter.next();
counter.reset();
connection();
