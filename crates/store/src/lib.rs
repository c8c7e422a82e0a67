//! What a wide-column store promises: contract, model store, conformance suite
