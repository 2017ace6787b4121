import { defineProduct } from './engine/define-product.ts'
import { PlantService } from './plant-service.ts'

/** What this service is: what it stores, and the classes with the methods of its operations. */
export const product = defineProduct({
  collections: { plants: { schema: 'Plant', key: 'int64' } },
  services: ({ plants }) => [new PlantService(plants)],
})
