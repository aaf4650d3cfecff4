type Method = (this: unknown, ...args: never[]) => unknown;

export function logged<T extends Method>(target: T, context: ClassMethodDecoratorContext): T {
  note(String(context.name));
  return target;
}

export function route(path: string) {
  return function register(target: unknown, context: ClassMethodDecoratorContext): void {
    note(path + String(context.name));
  };
}

export function note(text: string): void {
  seen.push(text);
}

const seen: string[] = [];
