// The service in one place: names, contract, store, collections, and the classes with the methods.
import { contract } from './contract.gen.ts'
import { defineProduct } from '@plant-store/engine'
import { PlantService } from './plant-service.ts'
import { openStore } from '@plant-store/store'

export const product = defineProduct({
  name: 'plants',
  tokenPrefix: 'plant',
  contract,
  store: openStore,
  collections: { plants: { schema: 'Plant', key: 'int64' } },
  services: ({ plants }) => [new PlantService(plants)],
})
