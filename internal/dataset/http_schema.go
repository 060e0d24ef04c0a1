package dataset

import (
	"github.com/assayhq/assay/internal/httpapi"
)

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddDatasetItems":        addItemsBody{},
	"AddedDatasetItem":       addedItem{},
	"AddedDatasetItems":      addedItemsBody{},
	"CreateDataset":          createBody{},
	"Dataset":                datasetBody{},
	"DatasetItem":            itemBody{},
	"DatasetItemInput":       ItemFields{},
	"DatasetItemList":        listItemsBody{},
	"DatasetItemSource":      sourceBody{},
	"DatasetItemSourceInput": sourceInput{},
	"DatasetList":            listBody{},
	"DatasetVersion":         versionBody{},
	"DatasetVersionList":     listVersionsBody{},
	"FreezeDatasetVersion":   freezeBody{},
	"SkippedDatasetItem":     skippedItem{},
	"UpdateDataset":          updateBody{},
	"UpdateDatasetItem":      itemPatch{},
}
