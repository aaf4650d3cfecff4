import { App, type Context, type Next } from './app';

async function timing(context: Context, next: Next): Promise<void> {
  await next();
  context.body += stamp();
}

const hello = async (context: Context): Promise<void> => {
  context.body = `hello ${context.path}`;
};

function stamp(): string {
  return '!';
}

const app = new App().use(timing).use(hello);
void app.handle('/');
