import { rolldown } from 'rolldown'

// The harness of .winnow/bundle.yaml: what every measuring job loads, as `npm run build` makes it, but with
// every name shortened, so that renaming gains nothing.
const bundle = await rolldown({ input: 'src/action/measure.ts', platform: 'node', logLevel: 'silent' })
const minify = { compress: true, mangle: { toplevel: true }, codegen: { removeWhitespace: true } }
const { output } = await bundle.generate({ format: 'esm', minify })
await bundle.close()
if (output.length !== 1) throw new Error(`one file is loaded at once, and this is ${output.length}`)
console.log(JSON.stringify({ bytes: Buffer.byteLength(output[0].code) }))
