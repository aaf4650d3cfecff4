import { Tagged, Timestamped } from './mixins';

class Document {
  constructor(public title = 'untitled') {}
  save(): void {}
}

class Article extends Tagged(Timestamped(Document)) {
  publish(): void {
    this.tag('news');
    this.touch();
    this.save();
  }
}

const article = new Article();
article.publish();
article.touch();
