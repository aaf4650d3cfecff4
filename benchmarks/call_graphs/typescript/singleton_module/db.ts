class Database {
  query(sql: string): string[] {
    return this.connection().run(sql);
  }

  private connection(): Connection {
    return (this.open ??= new Connection());
  }

  private open?: Connection;
}

class Connection {
  run(sql: string): string[] {
    return [sql];
  }
}

let instance: Database | undefined;

export function getDatabase(): Database {
  if (!instance) {
    instance = new Database();
  }
  return instance;
}

export const db = getDatabase();
