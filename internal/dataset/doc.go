// Package dataset keeps the cases that evaluations run on: datasets, their
// items and frozen versions.
//
// A dataset is active or archived:
//
//	from      event      to
//	active    archive    archived
//	archived  restore    active
//
// Items of an archived dataset cannot be written and no version of it can be
// frozen. Items of a golden dataset are written by promotion only.
//
// Words: an item is one case; its content is what an evaluation sees of it;
// its digest names that content, and a dataset holds no content twice. A
// version is frozen: it names the same items with the same contents for ever.
// A hold keeps a dataset from being deleted while someone uses it. Purging
// removes a deleted dataset for good.
package dataset
