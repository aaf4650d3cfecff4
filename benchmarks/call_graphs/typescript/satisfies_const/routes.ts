type Route = { path: string; view: (id: string) => string };

const showUser = (id: string): string => `user ${id}`;

function showPost(id: string): string {
  return `post ${id}`;
}

export const routes = {
  user: { path: '/users', view: showUser },
  post: { path: '/posts', view: showPost },
} as const satisfies Record<string, Route>;

export const levels = ['low', 'high'] as const;
