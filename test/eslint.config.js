import tseslint from 'typescript-eslint'

/** Names that say nothing of what they name. */
const EMPTY_NAMES = ['each', 'it', 'one', 'all', 'other', 'some']
/** Participles that say what happened to a value, and not what it is; and a word that stands for several things. */
const VAGUE_NAMES = ['found', 'made', 'given', 'known', 'holder']

export default tseslint.config(
  { ignores: ['**/*.gen.ts', 'packages/*/released.d.ts', '.tap/', 'test/system/release/clients/'] },
  {
    files: ['service/**/*.ts', 'packages/**/*.ts', 'test/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: `${import.meta.dirname}/..` },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { varsIgnorePattern: '^_', argsIgnorePattern: '^_' },
      ],
      // Hooks and store methods are async by their type, also where they happen not to wait.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allow: [{ name: 'bigint', from: 'lib' }] },
      ],
    },
  },
  {
    // Each place of the packages reads once. In service/ stand the methods of whoever serves another contract: their names and
    // their shape are theirs.
    files: ['packages/**/*.ts', 'test/**/*.ts'],
    rules: {
      complexity: ['error', 10],
      'max-params': ['error', 4],
      'max-nested-callbacks': ['error', 3],
      'max-statements-per-line': ['error', { max: 1 }],
      'no-nested-ternary': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ArrowFunctionExpression > ArrowFunctionExpression.body',
          message: 'An arrow function is the body of another: give it a name.',
        },
      ],
      'id-denylist': ['error', ...EMPTY_NAMES, ...VAGUE_NAMES],
    },
  },
  {
    // A method may leave a part of the request unused.
    files: ['service/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none', varsIgnorePattern: '^_' }],
    },
  },
  {
    // What a person reads at a terminal has one writer, which shows control characters as escapes.
    files: ['service/**/*.ts', 'packages/*/src/**/*.ts'],
    ignores: ['packages/engine/src/ops/terminal.ts', 'packages/testing/src/run/*.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // A test is awaited by tap.
    files: ['packages/testing/src/tests/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  {
    // A test is awaited by tap; what it reads is unknown until it is compared.
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
