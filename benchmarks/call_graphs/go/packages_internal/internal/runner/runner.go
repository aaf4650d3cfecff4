package runner

import "example.com/tool/internal/config"

func Run(cfg *config.Config) string { return parse(cfg.Path()) }

func parse(text string) string { return "ran " + text }
