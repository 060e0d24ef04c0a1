package stat

// stopped is what ends a computation whose pause has failed.
type stopped struct{ err error }

// Step lets others in between two steps of a computation, which should take milliseconds.
// It returns to Stoppable if the computation is to end.
func (o Options) Step() {
	if o.Pause == nil {
		return
	}
	if err := o.Pause(); err != nil {
		panic(stopped{err})
	}
}

// Stoppable is deferred by what calls Step: it returns the error of a pause that failed.
func Stoppable(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.err
	default:
		panic(p)
	}
}
