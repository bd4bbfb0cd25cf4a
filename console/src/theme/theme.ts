import {
  Alert,
  createTheme,
  Drawer,
  DrawerHeader,
  type MantineColorsTuple,
  Menu,
  Modal,
  ModalHeader,
  Notification,
  SegmentedControl,
  Tooltip,
} from '@mantine/core'

/** The primary colour. */
const verdigris: MantineColorsTuple = [
  '#edf7f4',
  '#d5ebe5',
  '#a9d6cb',
  '#7ac0b0',
  '#50aa97',
  '#32937f',
  '#217b69',
  '#186657',
  '#125246',
  '#0b3b32',
]
/** For test mode and warnings. */
const brass: MantineColorsTuple = [
  '#fdf6e6',
  '#f8e8c3',
  '#f0d28b',
  '#e7ba52',
  '#dda42c',
  '#c58a1a',
  '#9c6b10',
  '#7d550e',
  '#604110',
  '#452f0d',
]
const gray: MantineColorsTuple = [
  '#f8f8f6',
  '#f1f1ee',
  '#e5e5e0',
  '#d3d3cc',
  '#c2c2ba',
  '#85857d',
  '#64645d',
  '#484843',
  '#31312d',
  '#1d1d1a',
]
/** From the text colour to the darkest background, as Mantine orders its dark shades. */
const dark: MantineColorsTuple = [
  '#e0e3df',
  '#bfc4bf',
  '#9ea59f',
  '#737b75',
  '#3b423e',
  '#2c3230',
  '#222725',
  '#171b19',
  '#121513',
  '#0c0e0d',
]

/** The accessible name of close buttons. */
const CLOSE = { 'aria-label': 'Close' }
/** A <header> in a dialog would be announced as a second banner of the page. */
const NO_BANNER = { role: 'none' }

export const theme = createTheme({
  colors: { verdigris, brass, gray, dark },
  primaryColor: 'verdigris',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.32,
  black: '#1d1d1a',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily:
    'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", "Helvetica Neue", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.45' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '3px', sm: '6px', md: '8px', lg: '12px', xl: '20px' },
  shadows: {
    xs: '0 1px 2px rgb(20 24 22 / 5%)',
    sm: '0 1px 3px rgb(20 24 22 / 8%)',
    md: '0 4px 16px rgb(20 24 22 / 9%)',
    lg: '0 12px 32px rgb(20 24 22 / 14%)',
    xl: '0 24px 64px rgb(20 24 22 / 18%)',
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  components: {
    Alert: Alert.extend({
      vars: (_, { color = 'verdigris' }) => ({
        root: {
          '--alert-bg': `color-mix(in srgb, var(--mantine-color-${color}-filled) 8%, var(--ph-surface))`,
          '--alert-bd': `1px solid color-mix(in srgb, var(--mantine-color-${color}-filled) 30%, transparent)`,
        },
      }),
    }),
    // The placeholder is no item, so that screen readers take the menu for a broken one.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({
      // A long address, as a whole, also on a phone.
      styles: { title: { fontWeight: 600, fontSize: '1rem' }, body: { overflowWrap: 'anywhere' } },
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.35, blur: 2 },
        closeButtonProps: CLOSE,
      },
    }),
    ModalHeader: ModalHeader.extend({ defaultProps: NO_BANNER }),
    Drawer: Drawer.extend({
      defaultProps: { overlayProps: { backgroundOpacity: 0.25 }, closeButtonProps: CLOSE },
    }),
    DrawerHeader: DrawerHeader.extend({ defaultProps: NO_BANNER }),
    // Choices that do not fit beside each other are below each other, and not cut off.
    SegmentedControl: SegmentedControl.extend({ styles: { root: { flexWrap: 'wrap' } } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: CLOSE } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, withArrow: true } }),
  },
})
