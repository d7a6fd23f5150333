//! A machine whose speed wanders as that of a shared virtual machine does, for simulated tests.

use rpcbench_stats::Observation;

/// Time constants in seconds, and shares of the variance: the rest is white. Fitted to the rate of a server on a shared virtual
/// machine: autocorrelation 0.80 at 0.1 s, 0.39 at 1 s, 0.25 at 5 s, 0.02 at 30 s.
const SLOW: (f64, f64) = (10.0, 0.41);
const QUICK: (f64, f64) = (0.3, 0.547);
const WHITE: f64 = 0.043;
/// Variance of means over 1 s of such a process with variance 1.
const OF_A_SECOND: f64 = 0.634;
/// Step of the simulation, seconds.
pub const STEP: f64 = 0.1;
/// Standard deviation of the logarithm of the reference.
const REFERENCE: f64 = 0.15;
/// Time constant of the drift of a machine that is shared with others, seconds.
const DRIFT: f64 = 60.0;

/// Random numbers (G. Steele, D. Lea and C. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform between 0 and 1, both left out.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, (self.uniform() * (at + 1) as f64) as usize);
        }
    }
}

/// A stationary process whose means over 1 s have variance 1.
struct Wandering {
    slow: f64,
    quick: f64,
}

impl Wandering {
    fn new(random: &mut Random) -> Self {
        Self { slow: random.normal(), quick: random.normal() }
    }

    /// The mean over the next step.
    fn step(&mut self, random: &mut Random) -> f64 {
        let ahead = |state: f64, constant: f64, random: &mut Random| {
            let kept = (-STEP / constant).exp();
            kept * state + (1.0 - kept * kept).sqrt() * random.normal()
        };
        self.slow = ahead(self.slow, SLOW.0, random);
        self.quick = ahead(self.quick, QUICK.0, random);
        let sum = SLOW.1.sqrt() * self.slow
            + QUICK.1.sqrt() * self.quick
            + WHITE.sqrt() * random.normal();
        sum / OF_A_SECOND.sqrt()
    }
}

/// A machine: what it does to all windows of a round, what to each alone, and a slow drift.
pub struct Machine {
    pub random: Random,
    shared: Wandering,
    own: Wandering,
    drift: f64,
}

impl Machine {
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let (shared, own) = (Wandering::new(&mut random), Wandering::new(&mut random));
        Self { random, shared, own, drift: 0.0 }
    }

    /// The mean state over the steps of a round, whose windows all cover the same time.
    pub fn round(&mut self, steps: usize) -> f64 {
        (0..steps).map(|_| self.shared.step(&mut self.random)).sum::<f64>() / steps as f64
    }

    /// The mean state over the steps of a window.
    fn window(&mut self, steps: usize) -> f64 {
        (0..steps).map(|_| self.own.step(&mut self.random)).sum::<f64>() / steps as f64
    }
}

/// An entry under test.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Long-run logarithm of its speed.
    pub speed: f64,
    /// Standard deviation of its means over 1 s.
    pub deviation: f64,
    /// Correlation with what the windows of a round share.
    pub correlation: f64,
}

/// A run of interleaved windows.
#[derive(Clone)]
pub struct Design {
    pub entries: Vec<Entry>,
    pub generations: u32,
    /// Windows of each process.
    pub rounds: u32,
    /// Standard deviation between processes.
    pub processes: f64,
    /// The parts, in two of three entries, of it and of [`Observation::MAX_SPREAD`], which is assumed of the others.
    pub parts: (f64, f64),
    /// True if each round has a window of 1 s of every process. Otherwise it has a window of 0.5 s of one process of each entry.
    pub live: bool,
    /// Standard deviation of the slow drift, which entries feel 0.25 to 1.75-fold.
    pub drift: f64,
    /// Entries whose numbers differ by this feel the drift alike.
    pub alike: usize,
    /// Probability that a window is slowed by 40 %.
    pub stalls: f64,
}

impl Design {
    /// Six equal entries.
    pub fn equal(deviation: f64, correlation: f64) -> Self {
        let entry = Entry { speed: 11.0, deviation, correlation };
        Self {
            entries: vec![entry; 6],
            generations: 8,
            rounds: 8,
            processes: 0.02,
            parts: (1.0, 1.0),
            live: false,
            drift: 0.0,
            alike: usize::MAX,
            stalls: 0.0,
        }
    }

    /// Equal entries with noise of 10 to 25 %, and a drift of 5 % that they feel differently.
    pub fn shared(entries: usize, generations: u32, rounds: u32) -> Self {
        let entry = |at: usize| Entry {
            speed: 11.0,
            deviation: 0.10 + 0.15 * at as f64 / (entries - 1) as f64,
            correlation: 0.7,
        };
        Self {
            entries: (0..entries).map(entry).collect(),
            generations,
            rounds,
            live: true,
            drift: 0.05,
            stalls: 0.005,
            ..Self::equal(0.0, 0.0)
        }
    }

    /// Six entries that are equal in the long run and feel the machine differently.
    pub fn unequal() -> Self {
        let felt = [(12, 0.89), (23, 0.98), (19, 0.7), (14, 0.8), (12, 0.89), (23, 0.98)];
        let entries = felt.map(|(percent, correlation)| Entry {
            speed: 11.0,
            deviation: f64::from(percent) / 100.0,
            correlation,
        });
        Self { entries: entries.to_vec(), ..Self::equal(0.0, 0.0) }
    }

    /// How much an entry feels the drift, independent of its noise.
    fn feels(&self, entry: usize) -> f64 {
        let (entries, entry) = (self.entries.len(), entry % self.alike);
        0.25 + 1.5 * ((entry * 5) % entries) as f64 / (entries - 1).max(1) as f64
    }

    /// Parts of an entry, as [`Self::parts`].
    fn parts(&self, entry: usize) -> (f64, f64) {
        if entry.is_multiple_of(3) { (1.0, 1.0) } else { self.parts }
    }

    pub fn run(&self, seed: u64) -> Vec<Observation> {
        let mut machine = Machine::new(seed);
        machine.drift = machine.random.normal();
        let processes: Vec<Vec<f64>> = (0..self.generations)
            .map(|_| self.entries.iter().map(|_| machine.random.normal()).collect())
            .collect();
        let mut observations = Vec::new();
        let stretches = if self.live { 1 } else { self.generations };
        for round in 0..stretches * self.rounds {
            let generations = match self.live {
                true => 0..self.generations,
                false => round / self.rounds..round / self.rounds + 1,
            };
            let mut windows: Vec<(usize, u32)> = (generations)
                .flat_map(|process| (0..self.entries.len()).map(move |entry| (entry, process)))
                .collect();
            machine.random.shuffle(&mut windows);
            let steps = if self.live { 10 } else { 5 };
            let state = machine.round(steps * windows.len());
            let kept = (-((steps * windows.len()) as f64) * STEP / DRIFT).exp();
            let step = (1.0 - kept * kept).sqrt() * machine.random.normal();
            machine.drift = kept * machine.drift + step;
            for (entry, process) in windows {
                let noise = (state, machine.window(steps));
                let mut window = self.window(&mut machine, (entry, process, round), noise);
                let spread = self.processes * self.parts(entry).0;
                window.value *= (spread * processes[process as usize][entry]).exp();
                observations.push(window);
            }
        }
        observations
    }

    /// `state` is what the round's windows share, `own` the window's own part.
    fn window(
        &self,
        machine: &mut Machine,
        (entry, process, round): (usize, u32, u32),
        (state, own): (f64, f64),
    ) -> Observation {
        let Entry { speed, deviation, correlation } = self.entries[entry];
        let rest = (1.0 - correlation * correlation).sqrt();
        let drift = self.drift * self.feels(entry) * machine.drift;
        let stall = if machine.random.uniform() < self.stalls { 0.6_f64.ln() } else { 0.0 };
        let noise = deviation * (correlation * state + rest * own);
        Observation {
            entry,
            process,
            round,
            value: (speed + noise + drift + stall).exp(),
            reference: (correlation > 0.0).then(|| (REFERENCE * state).exp()),
            spread: Observation::MAX_SPREAD * self.parts(entry).1,
        }
    }
}
