import { parse } from './parse';

class Reader {
  read(at: number): string;
  read(at: string): number;
  read(at: number | string): number | string {
    return typeof at === 'number' ? parse(at) : parse(at);
  }
}

const reader = new Reader();
reader.read(1);
reader.read('1');
