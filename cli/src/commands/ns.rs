//! `satrap ns`: the names in the namespace.
//!
//! Each with its satellite, process and contract, as the coordinator's namespace holds it (Helios §3.5).

use crate::{
    arguments::Ns,
    connect,
    context::Context,
    failure::Result,
    ui::{
        output,
        style::Colour,
        style::Style,
        table::{Align, Cell, Table, optional},
    },
};
use satrap_coordinator::api::{Control, Name};

/// Characters of a hash that tell contracts apart.
const HASH: usize = 12;

/// Lists them.
pub fn execute(context: &Context, ns: &Ns) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let names = control.names(&ns.prefix)?;
    if context.json {
        return output::json(&names);
    }
    output::text(&render(&names, context.out))
}

fn render(names: &[Name], style: Style) -> String {
    let mut table = Table::new([
        ("NAME", Align::Left),
        ("SATELLITE", Align::Right),
        ("PROCESS", Align::Right),
        ("CONTRACT", Align::Left),
        ("HASH", Align::Left),
        ("ATTRIBUTES", Align::Left),
    ]);
    for name in names {
        let attributes: Vec<String> = name
            .attributes
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let hash = name
            .contract
            .as_ref()
            .map(|hash| hash.chars().take(HASH).collect::<String>());
        table.row([
            name.path.clone().into(),
            optional(Some(name.kernel).filter(|kernel| *kernel != 0)),
            match name.process {
                // A driver in the satellite's kernel.
                Some(0) => Cell::new("kernel", Colour::Dim),
                process => optional(process),
            },
            optional(name.contract_name.as_ref()),
            hash.map_or_else(|| optional(None::<u8>), |hash| Cell::new(hash, Colour::Dim)),
            attributes.join(" ").into(),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_name_shows_its_owner_and_its_contract() {
        let mut kernel = testing::name("/kernel/2", 2, None);
        kernel.attributes.insert("node".into(), "0".into());
        let service = Name {
            contract: Some("0123456789abcdef".into()),
            contract_name: Some("satrap:echo/echo@1.0.0".into()),
            ..testing::name("/example/echo", 2, Some(7))
        };
        let expected = "\
NAME           SATELLITE  PROCESS  CONTRACT                HASH          ATTRIBUTES
/example/echo          2        7  satrap:echo/echo@1.0.0  0123456789ab
/kernel/2              2        -  -                       -             node=0
";
        assert_eq!(render(&[service, kernel], Style::plain()), expected);
    }
}
