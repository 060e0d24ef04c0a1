// Package annotator measures the people of an annotation task together: how far they agree,
// how well each of them works, what their answers come to, and which labels a person
// should decide about.
//
// It stores nothing. Words: the panel of a task is everybody who answered; a doubt is an
// item whose label the answers leave uncertain; an audit draws items at random on which
// people agree, so that what nobody looks at has a known error.
package annotator
