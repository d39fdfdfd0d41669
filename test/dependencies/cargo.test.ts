import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

const INDEX = 'https://github.com/rust-lang/crates.io-index'

describe('Cargo.toml', () => {
  const base = fixture('cargo/Cargo.toml')
  const withCrate = (line: string) => base.replace('byteorder = "1.4"', `byteorder = "1.4"\n${line}`)

  test.each([
    ['log = "0.4"', 'log 0.4 registry'],
    [
      'log = { version = "0.4", features = ["std"], optional = true }',
      'log 0.4 (features ["std"], optional true) registry',
    ],
    ['log = { git = "https://example.org/log", branch = "x" }', 'log * git https://example.org/log#x'],
    ['log = { path = "../log" }', 'log * path ../log'],
    ['log = { version = "1", registry = "mine" }', 'log 1 mine'],
    ['log = { package = "evil", version = "1" }', 'evil 1 (as log) registry'],
    ['log = { workspace = true }', 'log * (workspace true) registry'],
    ['log.version = "0.4"', 'log 0.4 registry'],
  ])('%s is an addition', (line, addition) => {
    expect(additionsOf('Cargo.toml', base, withCrate(line))).toEqual([addition])
  })

  test.each([
    ['[build-dependencies]\ncc = "1"', 'cc 1 registry'],
    ['[target.\'cfg(unix)\'.dependencies]\nlibc = "0.2"', 'libc 0.2 registry'],
    ['[workspace.dependencies]\nlog = "0.4"', 'log 0.4 registry'],
    ['[patch.crates-io]\nbyteorder = { path = "../b" }', 'byteorder * (patches crates-io) path ../b'],
    [
      '[replace]\n"byteorder:1.4.3" = { git = "https://example.org/b" }',
      'byteorder * (replaces, as byteorder:1.4.3) git https://example.org/b',
    ],
  ])('%s is an addition', (table, addition) => {
    expect(additionsOf('Cargo.toml', base, `${base}\n${table}\n`)).toEqual([addition])
  })

  test('another feature of the same version is an addition', () => {
    const candidate = base.replace('"1.4"', '{ version = "1.4", features = ["i128"] }')
    expect(additionsOf('Cargo.toml', base, candidate)).toEqual(['byteorder 1.4 (features ["i128"]) registry'])
  })

  test.each([
    ['package.build', base.replace('edition =', 'build = "evil.rs"\nedition =')],
    ['profile.release', base.replace('lto = true', 'lto = false')],
    ['features.x', `${base}\n[features]\nx = []\n`],
    ['lib.path', `${base}\n[lib]\npath = "evil.rs"\n`],
    ['dev_dependencies.x', `${base}\n[dev_dependencies]\nx = "1"\n`],
  ])('a changed %s is out of scope', (place, candidate) => {
    expect(faultOf('Cargo.toml', base, candidate)).toContain(`changes ${place}: only dependencies`)
  })

  test('a quoted key does not hide the place that it looks like', () => {
    const package_ = '[package]\nname = "x"\nbuild = "build.rs"\n'
    const candidate = 'package.name = "x"\npackage.build = "evil.rs"\n"package.build" = "build.rs"\n'
    expect(faultOf('Cargo.toml', package_, candidate)).toContain(
      'changes package.build, "package.build": only',
    )
  })

  test('a duplicate key cannot be approved', () => {
    expect(faultOf('Cargo.toml', base, withCrate('byteorder = "2"'))).toContain('does not parse')
  })
})

describe('Cargo.lock, as cargo writes it', () => {
  const lock = fixture('cargo/Cargo.lock')

  test('holds every crate', () => {
    expect(additionsOf('Cargo.lock', null, lock)).toEqual([
      `byteorder 1.4.3 ${INDEX}`,
      `cfg-if 1.0.0 ${INDEX}`,
      `crc32fast 1.3.2 ${INDEX}`,
      `csv-core 0.1.6 ${INDEX}`,
      'fixture 0.1.0 path',
      'local 0.1.0 path',
      `memchr 2.5.0 ${INDEX}`,
    ])
    const { additions } = changeOf('Cargo.lock', null, lock)
    const direct = additions.filter(each => each.direct).map(({ name }) => name)
    expect(direct).toEqual(['byteorder', 'crc32fast', 'csv-core', 'local'])
  })

  test.each([
    ['checksum', '14c189c5', '00000000', `byteorder 1.4.3 ${INDEX}`],
    ['version', '"1.4.3"', '"1.4.4"', `byteorder 1.4.4 ${INDEX}`],
    ['source', 'registry+https', 'sparse+https', `byteorder 1.4.3 sparse+${INDEX}`],
  ])('a changed %s makes another crate', (_, from, to, addition) => {
    expect(additionsOf('Cargo.lock', lock, lock.replace(from, to))).toEqual([addition])
  })

  test('checksums of format version 1 are read', () => {
    const [crate] = changeOf('Cargo.lock', null, lock).additions
    const old = `[[package]]\nname = "byteorder"\nversion = "1.4.3"\nsource = "registry+${INDEX}"\n`
    const metadata = `[metadata]\n"checksum byteorder 1.4.3 (registry+${INDEX})" = "${crate?.integrity}"\n`
    expect(
      additionsOf('Cargo.lock', old + metadata, lock.slice(0, lock.indexOf('[[package]]\nname = "cfg'))),
    ).toEqual([])
  })

  test.each([
    ['another version of the format', 'version = 4', 'version = 5'],
    ['a crate without a version', 'version = "1.4.3"\n', ''],
    ['a conflict', '[[package]]', '<<<<<<< HEAD\n[[package]]'],
  ])('%s cannot be approved', (_, from, to) => {
    expect(faultOf('Cargo.lock', lock, lock.replace(from, to))).toContain('cannot be read')
  })
})
