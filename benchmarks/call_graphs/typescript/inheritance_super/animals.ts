export abstract class Animal {
  constructor(protected name: string) {}

  abstract sound(): string;

  speak(): string {
    return `${this.name} says ${this.sound()}`;
  }

  rest(): string {
    return 'zzz';
  }
}

export class Dog extends Animal {
  constructor(name: string, private tricks: string[]) {
    super(name);
  }

  sound(): string {
    return 'woof';
  }

  override rest(): string {
    return super.rest() + this.perform();
  }

  private perform(): string {
    return this.tricks.join();
  }
}

export class Puppy extends Dog {
  override sound(): string {
    return super.sound().toUpperCase();
  }
}
