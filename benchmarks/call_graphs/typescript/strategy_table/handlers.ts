type Handler = (payload: string) => string;

function onCreate(payload: string): string {
  return `created ${payload}`;
}

const onDelete: Handler = (payload) => `deleted ${payload}`;

export const handlers: Record<string, Handler> = {
  create: onCreate,
  delete: onDelete,
  rename(payload) {
    return onCreate(onDelete(payload));
  },
};
