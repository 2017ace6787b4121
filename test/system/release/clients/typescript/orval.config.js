const baseUrl = process.env.BASE_URL

export default {
  plants: { input: `${baseUrl}/openapi.yaml`, output: { target: 'orval.gen.ts', client: 'fetch', baseUrl } },
}
