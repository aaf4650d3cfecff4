import { compose, twice } from './compose';

const increment = (value: number): number => value + 1;
const show = (value: number): string => `${value}`;

const showNext = compose(increment, show);
const addTwo = twice(increment);

export function run(): string {
  return showNext(addTwo(1));
}

run();
