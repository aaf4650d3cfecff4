export interface Context {
  path: string;
  body: string;
}

export type Next = () => Promise<void>;
export type Middleware = (context: Context, next: Next) => Promise<void>;

export class App {
  private readonly stack: Middleware[] = [];

  use(middleware: Middleware): this {
    this.stack.push(middleware);
    return this;
  }

  async handle(path: string): Promise<string> {
    const context: Context = { path, body: '' };
    await this.dispatch(context, 0);
    return context.body;
  }

  private async dispatch(context: Context, index: number): Promise<void> {
    const middleware = this.stack[index];
    if (!middleware) return;
    await middleware(context, () => this.dispatch(context, index + 1));
  }
}
