import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
import { openChanges } from './changes.ts'
import { contract } from './contract.gen.ts'
import { NoteService } from './note-service.ts'
import { PlantService } from './plant-service.ts'

/** The product of the engine's tests: whatever openapi.yaml and service/product.ts say, they go on. */
export const product = defineProduct({
  name: 'plants',
  tokenPrefix: 'plant',
  contract,
  store: openStore,
  collections: {
    plants: { schema: 'Plant', key: 'int64' },
    notes: { schema: 'Note', key: 'text' },
  },
  open: openChanges,
  services: ({ plants, notes }, changes) => [
    new PlantService(plants),
    new NoteService(plants, notes, changes),
  ],
})
