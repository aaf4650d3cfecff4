const config = {
  port: 80,
  url(): string {
    return `http://localhost:${this.port}`;
  },
};

export default config;
