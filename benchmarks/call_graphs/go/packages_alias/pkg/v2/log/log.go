package log

func Info(msg string) string { return format("info", msg) }

func format(level, msg string) string { return level + ": " + msg }
