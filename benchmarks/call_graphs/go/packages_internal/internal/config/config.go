package config

type Config struct{ path string }

func Load(path string) *Config { return parse(path) }

func parse(path string) *Config { return &Config{path} }

func (c *Config) Path() string { return c.path }
