package matchers

type Matcher struct{ want int }

func Equal(want int) Matcher { return Matcher{want} }

func (m Matcher) Match(got int) bool { return got == m.want }
