package registry

var Default = New()

type Registry struct{ names []string }

func New() *Registry { return &Registry{} }

func (r *Registry) Register(name string) { r.names = append(r.names, name) }

func Register(name string) { Default.Register(name) }
