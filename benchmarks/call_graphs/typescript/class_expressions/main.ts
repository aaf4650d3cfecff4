import { defineModel, User } from './models';

const Post = defineModel('posts');

export function run(): string {
  const post = Post.create();
  return new User().save() + post.save();
}

run();
