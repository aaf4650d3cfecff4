type Token<T> = { readonly key: string; readonly type?: T };

export class Container {
  private readonly makers = new Map<string, (container: Container) => unknown>();

  register<T>(token: Token<T>, make: (container: Container) => T): void {
    this.makers.set(token.key, make);
  }

  resolve<T>(token: Token<T>): T {
    const make = this.makers.get(token.key);
    if (!make) throw new Error(token.key);
    return make(this) as T;
  }
}

export const token = <T>(key: string): Token<T> => ({ key });
