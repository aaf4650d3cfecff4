import type { Channel, Readable, Writable } from './ports';

export function copy(from: Readable, to: Writable): void {
  to.write(from.read());
}

export function finish(channel: Channel): void {
  channel.close();
}
