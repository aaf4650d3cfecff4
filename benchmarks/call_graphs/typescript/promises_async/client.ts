export interface Reply {
  status: number;
  body: string;
}

export class HttpError extends Error {
  constructor(readonly status: number) {
    super(describe(status));
  }
}

function describe(status: number): string {
  return `failed with ${status}`;
}

export class Client {
  async get(path: string): Promise<Reply> {
    const reply = await this.request(path);
    if (reply.status >= 400) throw new HttpError(reply.status);
    return reply;
  }

  private request(path: string): Promise<Reply> {
    return delay(1).then(() => ({ status: path ? 200 : 404, body: path }));
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
