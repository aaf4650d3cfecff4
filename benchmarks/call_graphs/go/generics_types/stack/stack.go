package stack

type Stack[T any] struct{ items []T }

func New[T any]() *Stack[T] { return &Stack[T]{} }

func (s *Stack[T]) Push(item T) { s.items = append(s.items, item) }

func (s *Stack[T]) Pop() (T, bool) {
	var zero T
	if s.empty() {
		return zero, false
	}
	last := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return last, true
}

func (s *Stack[T]) empty() bool { return len(s.items) == 0 }
