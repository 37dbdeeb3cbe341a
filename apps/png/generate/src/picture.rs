//! Motifs: what is on the pictures. Each compresses differently, as real pictures do.
//!
//! A seed decides everything. Neighbour: `raster` holds what is painted.

use crate::raster::{Format, Raster};

/// A small generator of reproducible numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, `limit`, which is not 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit)) as u32
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }
}

/// What is painted.
#[derive(Clone, Copy)]
pub enum Motif {
    /// A colour gradient: compresses well.
    Gradient,
    /// Overlapping waves with grain, like a photograph.
    Waves,
    /// A detail of the Mandelbrot set.
    Mandelbrot,
    /// Filled circles, like a drawing.
    Circles,
    /// Noise: does not compress.
    Noise,
}

/// Red, green, blue, alpha; each 0 to 1.
type Color = [f32; 4];

impl Motif {
    pub const ALL: [Motif; 5] = [
        Motif::Gradient,
        Motif::Waves,
        Motif::Mandelbrot,
        Motif::Circles,
        Motif::Noise,
    ];

    /// Paints in a format.
    pub fn paint(self, format: Format, width: u32, height: u32, seed: u64) -> Raster {
        let mut random = Random::new(seed);
        let scene = Scene::new(self, &mut random);
        let palette = if format.is_indexed() {
            palette(format.depth, &mut random)
        } else {
            Vec::new()
        };
        let mut samples = Vec::with_capacity(width as usize * height as usize * format.channels());
        for y in 0..height {
            for x in 0..width {
                let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
                push_pixel(&mut samples, format, scene.color(u, v, &mut random));
            }
        }
        Raster {
            format,
            width,
            height,
            samples,
            palette,
        }
    }
}

/// A motif with its parameters drawn.
struct Scene {
    motif: Motif,
    tint: Color,
    numbers: [f32; 24],
}

impl Scene {
    fn new(motif: Motif, random: &mut Random) -> Scene {
        let tint = [
            random.unit(),
            random.unit(),
            random.unit(),
            0.5 + random.unit() / 2.0,
        ];
        Scene {
            motif,
            tint,
            numbers: std::array::from_fn(|_| random.unit()),
        }
    }

    fn color(&self, u: f32, v: f32, random: &mut Random) -> Color {
        match self.motif {
            Motif::Gradient => self.tinted(u * self.numbers[0] + v * (1.0 - self.numbers[0])),
            Motif::Waves => {
                let wave = (u * 9.0 * self.numbers[0]).sin() + (v * 14.0 * self.numbers[1] + u * 5.0).cos();
                self.tinted(wave / 4.0 + 0.5 + (random.unit() - 0.5) / 16.0)
            }
            Motif::Mandelbrot => self.tinted(mandelbrot(u * 3.0 - 2.2, v * 2.4 - 1.2)),
            Motif::Circles => self.circles(u, v),
            Motif::Noise => std::array::from_fn(|_| random.unit()),
        }
    }

    fn tinted(&self, level: f32) -> Color {
        let [red, green, blue, alpha] = self.tint;
        [
            level * red,
            level * (1.0 - green),
            (1.0 - level) * blue,
            alpha + level * (1.0 - alpha),
        ]
    }

    fn circles(&self, u: f32, v: f32) -> Color {
        let hit = self.numbers.chunks_exact(3).position(|circle| {
            let (x, y) = (u - circle[0], v - circle[1]);
            x * x + y * y < circle[2] * circle[2] / 16.0
        });
        hit.map_or([1.0; 4], |index| self.tinted(index as f32 / 8.0))
    }
}

/// How soon a point leaves the set, 0 to 1.
fn mandelbrot(x: f32, y: f32) -> f32 {
    const STEPS: u32 = 48;
    let (mut a, mut b) = (0.0_f32, 0.0_f32);
    for step in 0..STEPS {
        if a * a + b * b > 4.0 {
            return step as f32 / STEPS as f32;
        }
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
    }
    1.0
}

fn palette(depth: u8, random: &mut Random) -> Vec<u8> {
    let entries = 1_usize << depth;
    let turn = random.unit();
    (0..entries)
        .flat_map(|entry| {
            let level = entry as f32 / entries as f32;
            [level, (level + turn) % 1.0, 1.0 - level].map(|part| (part * 255.0) as u8)
        })
        .collect()
}

fn push_pixel(samples: &mut Vec<u16>, format: Format, color: Color) {
    let highest = ((1_u32 << format.depth) - 1) as f32;
    let scaled = |part: f32| (part.clamp(0.0, 1.0) * highest).round() as u16;
    let [red, green, blue, alpha] = color;
    let gray = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    match format.channels() {
        1 => samples.push(scaled(gray)),
        2 => samples.extend([gray, alpha].map(scaled)),
        3 => samples.extend([red, green, blue].map(scaled)),
        _ => samples.extend([red, green, blue, alpha].map(scaled)),
    }
}
