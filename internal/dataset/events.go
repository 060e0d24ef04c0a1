package dataset

import "github.com/assayhq/assay/internal/change/event"

var datasetNoun = event.Of("dataset", "Dataset")

// Events about the items of a dataset are about the dataset: the digest of a dataset covers
// the digest of its items.
var (
	eventCreated       = datasetNoun.Event("dataset.created", "A dataset was created.")
	eventUpdated       = datasetNoun.Event("dataset.updated", "A dataset was changed.")
	eventDeleted       = datasetNoun.Event("dataset.deleted", "A dataset was deleted.")
	eventVersionFrozen = datasetNoun.Event("dataset.version_frozen", "A version of a dataset was frozen.")
	eventItemsAdded    = datasetNoun.Event("dataset.items_added", "Items were added to a dataset.")
	eventItemUpdated   = datasetNoun.Event("dataset.item_updated", "An item of a dataset was changed.")
	eventItemDeleted   = datasetNoun.Event("dataset.item_deleted", "An item of a dataset was deleted.")
	eventItemsUpdated  = datasetNoun.Event("dataset.items_updated", "Several items of a dataset were changed.")
	eventItemsDeleted  = datasetNoun.Event("dataset.items_deleted", "Several items of a dataset were deleted.")
)
