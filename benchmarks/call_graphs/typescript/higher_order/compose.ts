export type Step<A, B> = (value: A) => B;

export function compose<A, B, C>(first: Step<A, B>, second: Step<B, C>): Step<A, C> {
  return function composed(value) {
    return second(first(value));
  };
}

export function twice<A>(step: Step<A, A>): Step<A, A> {
  return compose(step, step);
}
