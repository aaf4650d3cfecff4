export class Repository {
  find(id: number): string {
    return `row ${id}`;
  }
}

export class Mailer {
  send(text: string): void {
    this.log(text);
  }
  private log(text: string): void {
    console.log(text);
  }
}

export class OrderService {
  constructor(
    private readonly rows: Repository,
    protected mailer: Mailer = new Mailer(),
  ) {}

  confirm(id: number): void {
    const row = this.rows.find(id);
    this.mailer.send(row);
  }
}
