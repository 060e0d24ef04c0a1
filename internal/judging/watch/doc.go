// Package watch asks judges about the same answers again and again. The answers are
// frozen, so whatever changes is the judge: models change behind their names, and a
// figure that moved may have moved because of that.
//
// A watch is of one version of a judge:
//
//	from       event   to
//	preparing  settle  watching
//	preparing  stop    stopped
//	watching   drift   drifted
//	watching   stop    stopped
//
// Preparing asks several times about each anchor: the verdict of most answers is the
// one to compare with, and how often the others contradict it is how often the judge
// contradicts itself without any change. Each check asks once more. The judge has
// drifted if its pass rate on the anchors moved by more than the tolerance, or if it
// contradicts its earlier self more often than it contradicts itself.
//
// A version that drifted stays so. Whoever accepts the judge as it is now gives it a
// new version, and with it labels and figures of its own.
//
// Words: an anchor is an item of a frozen dataset version with an output. A check is
// one look at all anchors. A flip is an anchor with another verdict than before.
package watch
