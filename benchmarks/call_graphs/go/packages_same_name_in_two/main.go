package main

import (
	"fmt"

	"example.com/codecs/json"
	"example.com/codecs/yaml"
)

func main() {
	a := json.New()
	b := yaml.New()
	fmt.Println(a.Encode("x"), b.Encode("y"))
}
