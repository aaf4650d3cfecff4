export type Result<T> = Ok<T> | Err;

export class Ok<T> {
  readonly ok = true;
  constructor(readonly value: T) {}
  map<U>(change: (value: T) => U): Result<U> {
    return ok(change(this.value));
  }
}

export class Err {
  readonly ok = false;
  constructor(readonly message: string) {}
  map(): Result<never> {
    return this;
  }
}

export const ok = <T>(value: T): Result<T> => new Ok(value);
export const err = (message: string): Result<never> => new Err(message);
