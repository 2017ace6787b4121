import { contract } from './contract.gen.ts'
import { defineProduct } from '@plant-store/engine'
import { PlantService } from './plant-service.ts'
import { openStore } from '@plant-store/store'

/** What this service is: its names, its contract, what it stores, and the classes with the methods of its operations. */
export const product = defineProduct({
  name: 'plants',
  tokenPrefix: 'plant',
  contract,
  store: openStore,
  collections: { plants: { schema: 'Plant', key: 'int64' } },
  services: ({ plants }) => [new PlantService(plants)],
})
