package price

func Sum(items []Item) int {
	total := 0
	for _, item := range items {
		total += item.Cents()
	}
	return round(total)
}

func round(cents int) int { return cents / 5 * 5 }
