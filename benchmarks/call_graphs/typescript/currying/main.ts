import { add, prefixed } from './curry';

const addOne = add(1);
const forUser = prefixed('user');

export function go(): string {
  return forUser('ann')('!') + addOne(2);
}

go();
